import { errorWithDetail, type GatewayError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json-shape.ts';
import { createSizedLru } from '../../kernel/lru.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { isKnown, type Provenance, stalenessOf } from '../provenance.ts';
import { type ReadResource, type RequestContext, type Result, resultOf } from '../request-context.ts';
import { type ChallengeFor, detailWithWait, type RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, type ToolArguments } from './arguments.ts';
import { createResultPages, jsonMembers, type ResultPage, type ResultPagesOptions } from './result-pages.ts';
import { describeTool } from './tool-definition.ts';

const MAX_FIRST_PAGES_BYTES = 4_194_304;

export interface ToolsOptions extends ResultPagesOptions {
  readonly catalogue: Pick<Catalogue, 'offered'>;
  readonly readResource: ReadResource;
  readonly provenance: Provenance;
  readonly recordError: RecordError;
  readonly challengeFor: ChallengeFor;
}

/** A result without the list, which the client has already. */
const NOT_MODIFIED =
  '"content":[{"type":"text","text":"{\\"notModified\\":true}"}],"structuredContent":{"notModified":true}}}';

export function createTools(options: ToolsOptions) {
  const { catalogue, readResource, maxResultBytes, provenance, now, recordError, challengeFor } = options;
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    const tool = describeTool(offered, shape, maxResultBytes);
    return { ...offered, read: createReadArguments(offered, shape), tool };
  });
  const pageOf = createResultPages(options);
  const byName = new Map<unknown, (typeof tools)[number]>(tools.map((one) => [one.tool.name, one]));

  /** First pages of the lists that were asked for last: most calls have no arguments. */
  const firstPages = createSizedLru<Buffer, ResultPage>({
    maxSize: MAX_FIRST_PAGES_BYTES,
    sizeOf: ({ json }) => json.length,
  });

  async function respond(
    offered: Offered,
    args: ToolArguments,
    load: Load,
    { context, params }: { readonly context: RequestContext; readonly params: object },
  ): Promise<Result> {
    const { snapshot } = load;
    const stale = stalenessOf(load, now());
    if (isKnown(snapshot, params))
      return { meta: provenance(offered.resource.name, load, stale), jsonTail: NOT_MODIFIED };
    // Such a page depends on nothing but the bytes of the list.
    const isKept = args.isEmpty && stale === undefined && load.excluded + load.dropped === 0;
    const kept = isKept ? firstPages.get(snapshot.bytes) : undefined;
    const page = kept ?? (await pageOf(offered, args, load, stale, context));
    if (isKept && kept === undefined) firstPages.set(snapshot.bytes, page);
    const meta = {
      ...(args.ignored.length > 0 && { 'portico/ignoredArguments': args.ignored }),
      ...(page.hidden.size > 0 && { 'portico/hiddenText': Object.fromEntries(page.hidden) }),
    };
    return { meta: provenance(offered.resource.name, load, stale) + jsonMembers(meta), jsonTail: page.json };
  }

  return {
    names: new Set<unknown>(byName.keys()),
    /** Definitions of the tools that read these resources. */
    list: (resources: ReadonlySet<string>) =>
      tools.flatMap(({ resource, tool }) => (resources.has(resource.name) ? [tool] : [])),
    /** `tools/call`: one page of a list. */
    async call(
      params: { readonly name?: unknown; readonly arguments?: unknown },
      context: RequestContext,
    ): Promise<Result> {
      const { name, arguments: given } = params;
      if (typeof name !== 'string') throw errorWithDetail('invalid_params', 'params.name: Must be the name of a tool.');
      if (given !== undefined && !isObject(given))
        throw errorWithDetail('invalid_params', 'params.arguments: Must be an object.');
      const tool = byName.get(name);
      if (tool === undefined) {
        const names = tools.map((one) => one.tool.name).join(', ');
        throw errorWithDetail('invalid_params', `There is no such tool. Tools are: ${names}.`);
      }
      context.record.tool = tool.tool.name;
      try {
        const args = tool.read(given);
        return await respond(tool, args, await readResource(tool.resource.name, context), { context, params });
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
    },
  };
}

/** Writes an error as a tool's result: for the model the error and its remedy, for programs `_meta`. */
function errorResult(thrown: GatewayError, requestId: string): Result {
  const { code, upstream, retryAfterSeconds } = thrown;
  const whence = upstream === undefined ? '' : `upstream ${upstream}, `;
  const text = `${code}: ${detailWithWait(thrown)} (${whence}request ${requestId})`;
  const error = { code, requestId, upstream, retryAfterSeconds };
  const result = resultOf({ isError: true, content: [{ type: 'text', text }] }, { 'portico/error': error });
  return { ...result, isError: true };
}
