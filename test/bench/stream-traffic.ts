import type { Metrics, Stream } from '@libp2p/interface'

/** Counts for the streams of one protocol, both ways. They leave out protocol selection and the muxer's frames. */
export interface Traffic {
  streams: number
  messages: number
  bytes: number
}

const none = () => undefined
/** A metric that libp2p sets and nobody reads. */
const UNUSED = { update: none, increment: none, decrement: none, reset: none, timer: () => none, observe: none }

/** libp2p's metrics that count by protocol into `traffic`, and nothing else. */
export function streamTraffic(traffic: Record<string, Traffic>): Metrics {
  const track = (stream: Stream & { onData?(data: { readonly byteLength: number }): void }) => {
    const counted = (traffic[stream.protocol] ??= { streams: 0, messages: 0, bytes: 0 })
    counted.streams++
    const count = ({ byteLength }: { readonly byteLength: number }) => {
      counted.messages++
      counted.bytes += byteLength
    }
    const send = stream.send.bind(stream)
    stream.send = (data) => {
      count(data)
      return send(data)
    }
    const onData = stream.onData?.bind(stream)
    if (onData === undefined) return
    stream.onData = (data) => {
      count(data)
      onData(data)
    }
  }
  const get = (_: object, name: PropertyKey) => {
    if (name === 'trackProtocolStream') return track
    return name === 'traceFunction' ? none : () => UNUSED
  }
  return new Proxy({}, { get }) as Metrics
}
