import type { Duplex } from 'node:stream'
import { AbstractMultiaddrConnection, type AbstractMultiaddrConnectionInit, type SendResult } from '@libp2p/utils'
import { pEvent } from 'p-event'
import type { Uint8ArrayList } from 'uint8arraylist'
import { WEBSOCKET_SENT_BYTES_MAX } from '../../base/limits/link.ts'

export interface StreamConnectionInit extends Omit<AbstractMultiaddrConnectionInit, 'name'> {
  /** Carries the connection's bytes, and ends with it. */
  readonly stream: Duplex
}

/** A libp2p connection over a Node.js stream, such as a WebSocket. */
export class StreamConnection extends AbstractMultiaddrConnection {
  readonly #stream: Duplex

  constructor({ stream, ...init }: StreamConnectionInit) {
    super({ ...init, maxMessageSize: WEBSOCKET_SENT_BYTES_MAX })
    this.#stream = stream
    stream.on('data', (data: Uint8Array) => this.onData(data))
    stream.on('drain', () => this.safeDispatchEvent('drain'))
    stream.on('error', (error) => this.abort(error))
    stream.once('end', () => this.onTransportClosed())
    stream.once('close', () => this.onTransportClosed())
  }

  override sendData(data: Uint8ArrayList): SendResult {
    return { sentBytes: data.byteLength, canSendMore: this.#stream.write(data.subarray()) }
  }

  override async sendClose(options?: { readonly signal?: AbortSignal }): Promise<void> {
    if (this.#stream.destroyed) return
    this.#stream.end()
    await pEvent(this.#stream, 'close', options ?? {})
  }

  override sendReset(): void {
    this.#stream.destroy()
  }

  override sendPause(): void {
    this.#stream.pause()
  }

  override sendResume(): void {
    this.#stream.resume()
  }
}
