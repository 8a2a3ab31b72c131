import { createServer } from 'node:http'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

/** A provider's API: answers a POST with the JSON it was sent. */
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
