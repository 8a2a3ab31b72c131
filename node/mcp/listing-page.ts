import { formatUsdc, limits } from '../../lib/index.ts'
import { type OperationSummary, operationCount, type SignedManifest } from '../../lib/interface/index.ts'
import { descriptorOf } from '../../protocols/protocol-descriptors.ts'
import { termsLines } from '../subscriptions/plan-words.ts'
import { termsView } from '../subscriptions/terms-view.ts'
import { plainLine, plainText } from './plain-text.ts'

/**
 * The listing of an API as Markdown. Text of the provider is quoted, so that it cannot look like text of this node.
 * @param operations - the first of them suffice
 */
export function listingPage(
  { id, manifest }: SignedManifest,
  operations: readonly OperationSummary[],
  now: number
): string {
  const { name, protocol, description, tags, api, state } = manifest
  const count = operationCount(api)
  const facts = [
    `- API: \`${id}\``,
    `- Protocol: ${protocol}`,
    `- Price: ${priceOf(manifest)}`,
    ...termsLines(termsView(manifest, now)).map((line) => `- ${line}`),
    ...(state === 'published' ? [] : [`- State: ${state}`]),
    ...(tags.length === 0 ? [] : [`- Tags: ${plainLine(tags.join(', '), limits.MCP_DESCRIPTION_CHARS_MAX)}`])
  ]
  const listed = operations.map(({ name: operation, summary }) => {
    const about = summary === undefined ? '' : `: ${plainLine(summary, limits.LABEL_CHARS_MAX * 2)}`
    return `- \`${plainLine(operation, limits.SUMMARIZED_NAME_CHARS_MAX).replaceAll('`', "'")}\`${about}`
  })
  const more = count > listed.length ? [`- … and ${count - listed.length} more. souk_show lists all.`] : []
  return [
    `# ${name}`,
    '',
    ...facts,
    '',
    'Text in quotes and the summaries are the provider’s and not verified.',
    '',
    ...quoted(plainText(description, limits.MCP_DESCRIPTION_CHARS_MAX)),
    ...section('Operations', [...listed, ...more]),
    ''
  ].join('\n')
}

function quoted(text: string): string[] {
  return text === '' ? [] : text.split('\n').map((line) => `> ${line}`)
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines]
}

function priceOf({ price, protocol, events }: SignedManifest['manifest']): string {
  const most = descriptorOf(protocol)?.isPriceCeiling === true ? 'at most ' : ''
  const call = price === 0n ? 'free' : `${most}${formatUsdc(price)} USDC a call. Failed calls are free.`
  return events === undefined ? call : `${call} Each event of a stream: ${formatUsdc(events.price)} USDC.`
}
