import type { CallEvent, CallInput } from '../../admin/api.ts'
import { open, Problem } from './client.ts'

/** Calls an API through this node. Yields the head, then the body as it arrives. @throws Problem */
export async function* call(input: CallInput, signal: AbortSignal): AsyncGenerator<CallEvent, undefined> {
  const { body } = await open('POST /call', { body: input, signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    const lines = (rest + read.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as CallEvent
  }
  return undefined
}

/** The error that ended a body early. */
export function problemIn(event: Extract<CallEvent, { type: 'error' }>): Problem {
  const { code, detail, request_id } = event.problem as { code: string; detail: string; request_id?: string }
  return new Problem(code, detail, request_id)
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.codePointAt(0) ?? 0)
}
