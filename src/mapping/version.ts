const VERSION = /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+]\S*)?$/;

/**
 * Brings a version into the form `<major>.<minor>.<patch>`: `v1.2` is `1.2.0`. A pre-release or build suffix stays
 * (Semantic Versioning 2.0.0, sections 9 and 10). What does not begin like a version (`latest`), or has four parts, is
 * kept as it is, without the space around it.
 */
export function toVersion(text: string): string {
  const trimmed = text.trim();
  const version = VERSION.exec(trimmed);
  if (version === null) return trimmed;
  const [, major, minor = '0', patch = '0', suffix = ''] = version;
  return `${major}.${minor}.${patch}${suffix}`;
}
