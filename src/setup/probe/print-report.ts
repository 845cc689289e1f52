import type { InspectColor } from 'node:util';
import type { FirstItem, ProbeReport, ReadFailure, ResourceReport } from './probe-report.ts';

/** Colours a text, if the output is a terminal with colours. */
type Paint = (style: InspectColor, text: string) => string;

const MAX_LINES = 40;

/** Formats a report for a person: a paragraph for each resource, and a line with the result. */
export function printReport(report: ProbeReport, paint: Paint): string {
  const verdict = paint(report.ok ? 'green' : 'red', verdictOf(report));
  return `${[...report.resources.map((resource) => printResource(resource, paint)), verdict].join('\n\n')}\n`;
}

/** Returns the last line. Resources are "read whole" only without any doubt. */
function verdictOf({ file, ok, strict, resources }: ProbeReport): string {
  const read = resources.filter((resource) => resource.ok);
  const warnings = read.flatMap((resource) => resource.warnings).length;
  const untried = read.flatMap((resource) => resource.notTried).length;
  const doubts = [
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ...(untried > 0 ? [`${counted(untried, 'experiment')} not tried`] : []),
  ];
  const word = ok ? 'OK' : strict ? 'FAILED (--strict)' : 'FAILED';
  const how = doubts.length === 0 ? ' whole' : `, with ${doubts.join(' and ')}`;
  return `${file}: ${word}: ${read.length} of ${resources.length} resources could be read${how}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function printResource(report: ResourceReport, paint: Paint): string {
  const { resource, uri, upstream, notRead, error, first, warnings, notTried } = report;
  const lines = [
    ...(notRead === undefined ? printExchange(report, paint) : [paint('red', `not read: ${notRead}`)]),
    ...(error === undefined ? [] : printFailure(error, report, paint)),
    ...(error === undefined && notRead === undefined ? printItems(report, paint) : []),
    ...(first === undefined ? [] : printFirst(first, report.ok, paint)),
    ...warnings.map(({ text }) => `${paint('yellow', 'warning:')} ${text}`),
    ...notTried.map(({ experiment, why }) => `${paint('yellow', 'not tried:')} ${experiment}: ${why}`),
  ];
  return [`${paint('bold', resource)}  ${uri}, upstream ${upstream}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function printExchange({ request, response }: ResourceReport, paint: Paint): string[] {
  if (request === undefined) return ['nothing was sent'];
  const { method, url, headers, body = [] } = request;
  const sent = [...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ...[body].flat()];
  return [`${method} ${url}`, ...sent.map((line) => paint('dim', `    ${line}`)), describeResponse(response)];
}

function describeResponse(response: ResourceReport['response']): string {
  if (response === undefined) return 'no response';
  const { status, ms, contentType } = response;
  return `${status} after ${ms} ms${contentType === '' ? '' : `, ${contentType}`}`;
}

function printSigns({ signs }: ResourceReport): string[] {
  return signs.length === 0 ? [] : [`the first page shows: ${signs.join('; ')}`];
}

function printItems(report: ResourceReport, paint: Paint): string[] {
  const { items, pages, ms, excluded, dropped, emptyFields, warnings, extraRequests, maxPages, maxParents } = report;
  const parts = [
    `${paint('green', `${counted(items, 'item')} of ${counted(pages, 'page')}`)} after ${ms} ms`,
    ...(excluded > 0 ? [`${excluded} excluded by where`] : []),
    ...(dropped > 0 ? [`${dropped} dropped because they could not be mapped`] : []),
  ];
  const warned = warnings.flatMap((warning) => ('field' in warning ? [warning.field] : []));
  const empty = emptyFields.filter((field) => !warned.includes(field));
  return [
    parts.join(', '),
    ...(maxParents === undefined ? [] : [`one read: at most ${maxPages} pages, of at most ${maxParents} parents`]),
    ...printSigns(report),
    ...(empty.length > 0 ? [`empty in all items: ${empty.join(', ')}`] : []),
    ...(extraRequests > 0 ? [`${counted(extraRequests, 'request')} more for experiments`] : []),
  ];
}

function printFailure(error: ReadFailure, report: ResourceReport, paint: Paint): string[] {
  const { code, reason, said, headers = {}, credentialHeaders } = error;
  const keys = (report.lookAt ?? [])
    .filter(({ setting }) => !reason.includes(setting))
    .map(({ setting, value }) => (value === undefined ? setting : `${setting} (${value})`));
  return [
    paint('red', `${code}: ${reason}`),
    ...(keys.length === 0 ? [] : [`check ${keys.join(', ')}`]),
    ...Object.entries(headers).map(([name, value]) => `    ${name}: ${value}`),
    ...(said === undefined ? [] : [`the platform said: ${said}`]),
    ...(credentialHeaders === undefined ? [] : [whereCredentialWas(code, credentialHeaders, report.upstream)]),
    ...printSigns(report),
  ];
}

function whereCredentialWas(code: string, headers: readonly string[], upstream: string): string {
  const setting = `upstreams.${upstream}.credential`;
  if (headers.length === 0) return `no token was sent: ${setting} has kind: none`;
  const names = headers.join(', ');
  return code === 'upstream_credential_rejected'
    ? `the secret of the deployment was sent in the header ${names}, as ${setting} defines`
    : `the token was sent in the header ${names}; ${setting} can define another`;
}

function printFirst({ raw, mapped, from, why }: FirstItem, isServed: boolean, paint: Paint): string[] {
  const lines = (JSON.stringify(raw, null, 2) ?? '').split('\n');
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '…'] : lines;
  const served = Object.entries(mapped ?? {}).map(([field, text]) => [`${field} (${from[field]})`, text] as const);
  const widest = Math.max(0, ...served.map(([field]) => field.length));
  const how = isServed ? 'is served' : 'would be served, if the list could be read';
  return [
    'first item as received',
    ...shown.map((line) => paint('dim', `    ${line}`)),
    why === undefined ? `and as it ${how}` : `not served: ${why}`,
    ...served.map(([field, text]) => `    ${field.padEnd(widest)}  ${text === '' ? paint('dim', '(empty)') : text}`),
  ];
}
