import { isUtf8 } from 'node:buffer'
import type { CallHead } from '../../admin/api.ts'
import type { CallResponse } from '../../admin/client.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { callBodyOf, readExactly } from '../options/call-body.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { milliseconds } from '../terminal/table.ts'
import { safeBody } from '../terminal/text.ts'
import { readAll, readBytes } from '../options/read-all.ts'

interface CallFlags {
  readonly stream?: boolean
  readonly method?: string
  readonly path?: string
  readonly maxPrice?: string
  readonly timeoutMs?: number
  readonly idempotencyKey?: string
}

export const addCall: AddCommand = (to, cli) => {
  to.command('call')
    .description('call an API; prints the response to stdout, time and price to stderr')
    .argument('<name>', 'name or name@provider')
    .argument('[json]', 'the request body; "-" reads it from stdin', '{}')
    .option('--stream', 'request Server-Sent Events, and print them as they arrive')
    .option('--method <method>', 'HTTP method, if the API accepts others than POST')
    .option('--path <path>', 'sub-path after the API’s name, with the query')
    .option('--max-price <price>', 'maximum price of the call in USDC', decimal)
    .option('--timeout-ms <ms>', 'time limit for the response; a stream may go on after it', wholeNumber)
    .option('--idempotency-key <key>', 'makes repeats safe: a repeat with the same key returns the first response')
    .action(async (api: string, json: string, flags: CallFlags) => {
      const body = await callBodyOf(
        json === '-' ? await readAll(cli.terminal.stdin) : json,
        `souk call <name> '{"field":"value"}'`
      )
      const answer = await (await cli.node()).call({
        api,
        body,
        stream: flags.stream,
        method: flags.method?.toUpperCase(),
        path: flags.path,
        max_price: flags.maxPrice,
        timeout_ms: flags.timeoutMs,
        idempotency_key: flags.idempotencyKey
      })
      await tell(cli, answer)
      // The upstream's error response goes to stdout. The exit code tells scripts that the call failed.
      if (answer.head.status >= 400 || answer.head.has_errors_only) cli.exitCode = EXIT.failed
    })
}

async function tell(cli: Cli, { head, body }: CallResponse): Promise<void> {
  const type = head.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  if (cli.json) return tellJson(cli, head, body, type.startsWith('text/event-stream'))
  let last: Uint8Array | undefined
  // A file or a pipe gets the bytes of the API.
  for await (const chunk of cli.terminal.isTerminal ? safeBody(body) : body) {
    if (chunk.length === 0) continue
    await cli.terminal.write(chunk)
    last = chunk
  }
  if (last !== undefined && last.at(-1) !== NEWLINE) await cli.terminal.write('\n')
  cli.terminal.note(summary(head))
}

const NEWLINE = 0x0a

/** Prints one object. For a stream: the head, then one object per chunk as it arrives. */
async function tellJson(cli: Cli, head: CallHead, body: AsyncIterable<Uint8Array>, isStream: boolean): Promise<void> {
  if (!isStream) {
    const bytes = await readBytes(body)
    // A string cannot hold the bytes of a picture.
    const content = isUtf8(bytes)
      ? { body: await jsonOrText(bytes.toString()) }
      : { body_base64: bytes.toString('base64') }
    return cli.print({ ...head, ...content }, () => [])
  }
  await cli.print(head, () => [])
  const decoder = new TextDecoder()
  for await (const chunk of body) await cli.print({ data: decoder.decode(chunk, { stream: true }) }, () => [])
}

async function jsonOrText(text: string): Promise<unknown> {
  try {
    return await readExactly(text)
  } catch {
    return text
  }
}

function summary({ status, ms, timing, price, charged, api, has_errors_only }: CallHead): string {
  const parts = Object.entries<number>({ ...timing }).map(([name, part]) => `${name} ${milliseconds(part)}`)
  return [
    `${status} from ${api} in ${milliseconds(ms)} ms (${parts.join(', ')})`,
    ...(has_errors_only ? ['errors, and no data'] : []),
    `price ${price} USDC, charged ${charged} USDC`
  ].join('; ')
}
