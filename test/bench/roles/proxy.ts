import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { fastify, type FastifyPluginCallback } from 'fastify'
import { listenOnLoopback, type Origin } from '../loopback.ts'
import { play } from '../role.ts'

// Loaded by `require`, because its types need those of `ws`, which are not installed.
const httpProxy = createRequire(import.meta.url)('@fastify/http-proxy') as FastifyPluginCallback<{ upstream: string }>

/** A provider's alternative to Souk: a reverse proxy with one hop, configured as in its documentation. */
play(async ({ origin }: Origin) => {
  const server = createServer()
  const app = fastify({ logger: false, serverFactory: (handler) => server.on('request', handler) })
  app.register(httpProxy, { upstream: origin })
  await app.ready()
  return listenOnLoopback(server)
})
