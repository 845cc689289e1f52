import { FAULT_NAMES, type Fault } from './faults.ts';

const FINE_MS = 400;
const FOUL_MS = 200;
/** In fine weather one request in so many meets a fault all the same. */
const SPRINKLE = 40;

/** What a platform does at a time. Its faults come in turn, so that every one of them comes about in any longer run. */
export interface Weather {
  /** What the next request meets. */
  next(): Fault | undefined;
  /** Whether the platform is out altogether now. */
  isOut(): boolean;
  /** All of it from now on, or nothing but fine weather. It begins fine. */
  flap(flaps: boolean): void;
}

/** `first` is the fault that this platform begins with. */
export function createWeather(first: number): Weather {
  let flapping = false;
  let requests = 0;
  const fault = (number: number): Fault | undefined => FAULT_NAMES[(first + number) % FAULT_NAMES.length];

  function now(): Fault | undefined {
    const ms = performance.now();
    const period = FINE_MS + FOUL_MS;
    return flapping && ms % period >= FINE_MS ? fault(Math.floor(ms / period)) : undefined;
  }

  return {
    next() {
      requests += 1;
      return now() ?? (flapping && requests % SPRINKLE === 0 ? fault(requests / SPRINKLE) : undefined);
    },
    isOut: () => now() === 'outage',
    flap(flaps) {
      flapping = flaps;
    },
  };
}
