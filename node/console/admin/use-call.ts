import { useEffect, useReducer, useRef } from 'react'
import type { CallHead, CallInput } from '../../admin/api.ts'
import { bytesOf, call, problemIn } from './call-api.ts'

/** Shown characters of a response. A page cannot display much more. */
const SHOWN_CHARS_MAX = 200_000

export interface CallResult {
  readonly head: CallHead | undefined
  /** The received body as text; only the start of a long body. */
  readonly text: string
  readonly bytes: number
  readonly error: Error | undefined
  /** True while the body is still arriving. */
  readonly isOpen: boolean
}

const NOTHING: CallResult = { head: undefined, text: '', bytes: 0, error: undefined, isOpen: true }

/** Makes one call at a time, and returns its response as it arrives. */
export function useCall(): {
  readonly answer: CallResult | undefined
  readonly send: (input: CallInput) => Promise<void>
  readonly stop: () => void
} {
  const [answer, change] = useReducer(
    (before: CallResult | undefined, news: Partial<CallResult> | undefined) =>
      news === undefined ? NOTHING : { ...(before ?? NOTHING), ...news },
    undefined
  )
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])

  const send = async (input: CallInput): Promise<void> => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    const decoder = new TextDecoder()
    let [text, bytes] = ['', 0]
    change(undefined)
    try {
      for await (const event of call(input, signal)) {
        if (event.type === 'head') change({ head: event })
        else if (event.type === 'error') change({ error: problemIn(event) })
        else if (event.type === 'data') {
          const chunk = bytesOf(event.base64)
          bytes += chunk.length
          if (text.length < SHOWN_CHARS_MAX) text += decoder.decode(chunk, { stream: true })
          change({ text: text.slice(0, SHOWN_CHARS_MAX), bytes })
        }
      }
    } catch (error) {
      if (!signal.aborted) change({ error: error instanceof Error ? error : new Error('That did not work.') })
    }
    if (running.current?.signal === signal) change({ isOpen: false })
  }
  return { answer, send, stop: () => running.current?.abort() }
}
