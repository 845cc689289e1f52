/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the process, with `overlay` on top. The only place of the whole program that reads it. */
export function processEnvironment(overlay: Environment = {}): Environment {
  return { ...process.env, ...overlay };
}
