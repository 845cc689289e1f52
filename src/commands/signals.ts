// Imports nothing, because the entry point installs signal handlers before it loads anything else.

export interface SignalListener {
  /** Called with the first SIGTERM or SIGINT: drain, then end the process. */
  drain(signal: NodeJS.Signals): void;
  cut(): void;
  /** Called with SIGHUP: reloads the settings. */
  readonly reload?: (() => void) | undefined;
  ignored(signal: NodeJS.Signals): void;
}

let listener: SignalListener | undefined;
let draining = false;

/**
 * Handles signals instead of Node and the kernel. As PID 1, SIGTERM would have no effect; SIGHUP and SIGUSR2 would end
 * the process during requests; SIGUSR1 would open Node's inspector.
 */
export function catchSignals(): void {
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', (signal) => (listener?.reload ? listener.reload() : listener?.ignored(signal)));
  process.on('SIGUSR1', (signal) => listener?.ignored(signal));
  process.on('SIGUSR2', (signal) => listener?.ignored(signal));
}

/** Sets the command to drain. Without one, and during a drain, SIGTERM and SIGINT end the process immediately. */
export function listenToSignals(to: SignalListener): void {
  listener = to;
}

function end(signal: NodeJS.Signals): void {
  // With the exit code that the command has set so far.
  if (listener === undefined) process.exit();
  if (draining) {
    listener.cut();
    process.exit(1);
  }
  draining = true;
  listener.drain(signal);
}
