import type { AbortOptions, Stream } from '@libp2p/interface'
import { AbstractMultiaddrConnection, type SendResult } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Uint8ArrayList } from 'uint8arraylist'

/** A libp2p connection over a stream to a relay. It sends at once, and receives after `receive()`. */
export class CircuitConnection extends AbstractMultiaddrConnection {
  readonly #stream: Stream

  constructor(stream: Stream, remoteAddr: Multiaddr) {
    super({ remoteAddr, direction: 'outbound', log: stream.log.newScope('circuit') })
    this.#stream = stream
    stream.addEventListener('close', ({ error }) => this.onTransportClosed(error))
    stream.addEventListener('drain', () => this.safeDispatchEvent('drain'))
  }

  /** Reads the stream from here on. The relay's response came before. */
  receive(): void {
    const stream = this.#stream
    stream.addEventListener('message', ({ data }) => this.onData(data))
    stream.addEventListener('remoteCloseWrite', () => {
      this.onRemoteCloseWrite()
      this.close().catch(() => this.abort(new Error('the circuit did not close')))
    })
  }

  override sendData(data: Uint8ArrayList): SendResult {
    return { sentBytes: data.byteLength, canSendMore: this.#stream.send(data) }
  }

  override async sendClose(options?: AbortOptions): Promise<void> {
    await this.#stream.close(options)
  }

  override sendReset(error: Error): void {
    this.#stream.abort(error)
  }

  override sendPause(): void {
    this.#stream.pause()
  }

  override sendResume(): void {
    this.#stream.resume()
  }
}
