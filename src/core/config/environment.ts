export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the process. The only place that reads it. */
export function processEnvironment(overlay: Environment = {}): Environment {
  return { ...process.env, ...overlay };
}

export type Substitute = ReturnType<typeof createSubstitute>;

/** Never goes back, so linear. */
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const BODY = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** Substitutes `${NAME}` and `${NAME:-default}` (unset or empty, as in a shell) once; `$${` is a literal `${`. */
export function createSubstitute(environment: Environment) {
  return (text: string) => {
    const issues = new Set<string>();
    /** Whether any of it was `${…}`, its default included. */
    let fromEnvironment = false;
    const replace = (_reference: string, body: string | undefined, end: string | undefined): string => {
      if (body === undefined) return '${';
      fromEnvironment = true;
      return end === '}' ? resolve(body, environment, issues) : malformed(issues);
    };
    const result = text.replace(REFERENCE, replace);
    return { text: result, fromEnvironment, issues: [...issues] };
  };
}

function resolve(body: string, environment: Environment, issues: Set<string>): string {
  const [, name = '', fallback] = BODY.exec(body) ?? [];
  if (name === '' || fallback?.includes('${') === true) return malformed(issues);
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
  if (value === undefined) issues.add(`environment variable ${name} is not set and has no default`);
  return value ?? '';
}

function malformed(issues: Set<string>): string {
  issues.add(`must be \${NAME} or \${NAME:-default}; a literal \${ is written $\${`);
  return '';
}
