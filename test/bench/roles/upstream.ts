import { createServer } from 'node:http'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

/** A provider's API: responds to a POST with the received JSON. */
play(async () => {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    })
  })
  return listenOnLoopback(server)
})
