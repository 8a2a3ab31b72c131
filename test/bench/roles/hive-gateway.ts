import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PeerArgs } from '../installed-peer.ts'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

/** The part of `@graphql-hive/gateway-runtime` that this process uses. */
interface Hive {
  createGatewayRuntime(config: {
    readonly proxy: { readonly endpoint: string }
    readonly logging: boolean
  }): RequestListener & AsyncDisposable
}

/** An existing gateway: Hive Gateway as a proxy of one GraphQL API, which it asks for the schema and checks queries by. */
play(async ({ origin, directory }: PeerArgs) => {
  const entry = createRequire(join(directory, 'main.js')).resolve('@graphql-hive/gateway-runtime')
  const { createGatewayRuntime } = (await import(pathToFileURL(entry).href)) as Hive
  const gateway = createGatewayRuntime({ proxy: { endpoint: origin }, logging: false })
  const { info, stop } = await listenOnLoopback(createServer(gateway))
  const ends = async () => {
    await stop()
    await gateway[Symbol.asyncDispose]()
  }
  return { info: { ...info, path: '/graphql' }, stop: ends }
})
