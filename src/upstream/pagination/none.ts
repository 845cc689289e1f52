import { firstUrl, type ListRead } from './list-read.ts';
import type { PageView } from './page-view.ts';

/** The whole list as one page. */
export async function* onePage<P extends PageView>({ list, fetch, signal }: ListRead<P>): AsyncGenerator<P> {
  yield await fetch(firstUrl(list), signal);
}
