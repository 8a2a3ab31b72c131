import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { SELF_SIGNED } from './self-signed.ts'

/** https://www.postgresql.org/docs/current/protocol-message-formats.html: SSLRequest */
const SSL_REQUEST_BYTES = 8

/** The way to a PostgreSQL server through TLS, with the certificate of these tests. */
export interface PostgresTls {
  readonly port: number
  close(): Promise<void>
}

export async function tlsPostgres(port: number, host = '127.0.0.1'): Promise<PostgresTls> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ port, host: '127.0.0.1' })
    const cut = () => [client, upstream].forEach((socket) => socket.destroy())
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', cut).on('close', cut)
    }
    client.once('readable', () => {
      client.read(SSL_REQUEST_BYTES)
      client.write('S')
      const inner = new TLSSocket(client, { isServer: true, ...SELF_SIGNED })
      inner.on('error', cut)
      inner.pipe(upstream).pipe(inner)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
