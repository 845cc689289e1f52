type ErrorType<T> = new (...all: never[]) => T;

/** The error of this type that `work` throws, if it throws. Any other error is thrown on. */
export function thrownBy<T>(type: ErrorType<T>, work: () => unknown): T | undefined {
  try {
    work();
  } catch (error) {
    return only(type, error);
  }
  return undefined;
}

/** The error of this type that a promise rejects with, if it rejects. It rejects with any other. */
export const rejectionBy = <T>(type: ErrorType<T>, promise: Promise<unknown>): Promise<T | undefined> =>
  promise.then(
    () => undefined,
    (error: unknown) => only(type, error),
  );

function only<T>(type: ErrorType<T>, error: unknown): T {
  if (error instanceof type) return error;
  throw error;
}
