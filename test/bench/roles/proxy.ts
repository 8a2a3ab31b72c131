import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { fastify, type FastifyPluginCallback } from 'fastify'
import { listenOnLoopback, type Origin } from '../loopback.ts'
import { play } from '../role.ts'

// By `require`, for its types would bring in those of `ws`, which are not installed.
const httpProxy = createRequire(import.meta.url)('@fastify/http-proxy') as FastifyPluginCallback<{ upstream: string }>

/** What a provider would put before an API without Souk: a reverse proxy with one hop, as its documentation sets it up. */
play(async ({ origin }: Origin) => {
  const server = createServer()
  const app = fastify({ logger: false, serverFactory: (handler) => server.on('request', handler) })
  app.register(httpProxy, { upstream: origin })
  await app.ready()
  return listenOnLoopback(server)
})
