// Imports nothing: the entry heeds signals before it loads anything else.

export interface SignalListener {
  /** Told the first SIGTERM or SIGINT: what is in flight is to end, and then the process. */
  drain(signal: NodeJS.Signals): void;
  /** Told the second one, just before the process ends. */
  cut(): void;
  /** Told SIGHUP. Where it is not there, that changes nothing. */
  reload?(): void;
  /** Told SIGUSR2: files that lines are added to may have been moved away. */
  reopen(signal: NodeJS.Signals): void;
  /** Told of a signal that changes nothing. */
  ignored(signal: NodeJS.Signals): void;
}

let listener: SignalListener | undefined;
let draining = false;

/**
 * Takes signals over from Node and the kernel. As PID 1, without this, SIGTERM would do nothing; SIGHUP would end the
 * process in the middle of its requests, as would SIGUSR2; SIGUSR1 would open Node's inspector to whoever is on this machine.
 */
export function catchSignals(): void {
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', (signal) => (listener?.reload ? listener.reload() : listener?.ignored(signal)));
  process.on('SIGUSR1', (signal) => listener?.ignored(signal));
  process.on('SIGUSR2', (signal) => listener?.reopen(signal));
}

/** Has a command drain. Where none does, and once one does, SIGTERM and SIGINT end the process at once. */
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
