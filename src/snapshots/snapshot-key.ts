/** Key of a resource as one partition sees it: the one function that builds such keys. */
export function snapshotKey(resource: string, partition: string): string {
  return `${partition} ${resource}`;
}
