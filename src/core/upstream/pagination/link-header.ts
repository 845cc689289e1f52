import type { ReplyHeaders } from '../upstream.ts';
import { incomplete } from './incomplete.ts';

/** Comma, space and tab before a link, and its target in angle brackets. A list may hold empty elements (RFC 9110, section 5.6.1.2). */
const TARGET = /[ \t,]*<([^<>]*)>/y;
/**
 * One parameter: a name, and where it has one a value, quoted or not. A value without quotes may hold more than RFC 8288
 * allows, as in `type=text/html`, but nothing that a lost quote or bracket would bring there.
 */
const PARAMETER = /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"<>]*)))?)?/y;
const BETWEEN_LINKS = /[ \t]*(?:,|$)/y;
const EMPTY = /[ \t,]*$/y;

/**
 * The target of the one link with relation `rel` in a `Link` header (RFC 8288, section 3), as written; `undefined` where
 * there is none. Throws `upstream_invalid` where the header is malformed, rather than overlook a next page in it, and
 * where it names several.
 *
 * Takes time in proportion to the header's length whatever it holds: each expression begins where the one before ended, and
 * can end in one way only. http-link-header, which the tests compare with, makes a copy of all parameters for each relation:
 * 6 s for 18 KB.
 */
export function linkTo(rel: string, field: ReplyHeaders[string]): string | undefined {
  const text = [field ?? []].flat().join(',');
  const targets = new Set<string>();
  let at = 0;

  function take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(text);
    if (match === null) return undefined;
    at = expression.lastIndex;
    return match;
  }

  function takeRelations(): readonly string[] {
    let relations: string | undefined;
    for (let parameter = take(PARAMETER); parameter !== undefined; parameter = take(PARAMETER)) {
      const [, name, quoted, bare] = parameter;
      // The first one counts (RFC 8288, section 3.3). Single quotes are none, but some platforms write them.
      if (name?.toLowerCase() === 'rel')
        relations ??= quoted?.replace(/\\(.)/g, '$1') ?? bare?.replaceAll("'", '') ?? '';
    }
    if (relations?.trim() === '') throw malformed();
    return (
      relations
        ?.toLowerCase()
        .trim()
        .split(/[ \t]+/) ?? []
    );
  }

  while (take(EMPTY) === undefined) {
    const target = take(TARGET)?.[1];
    if (target === undefined) throw malformed();
    if (takeRelations().includes(rel)) targets.add(target);
    if (take(BETWEEN_LINKS) === undefined) throw malformed();
  }
  if (targets.size > 1) throw incomplete(`the Link header names several ${rel} pages`);
  return targets.values().next().value;
}

function malformed(): Error {
  return incomplete('the Link header is malformed');
}
