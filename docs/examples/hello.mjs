import { createServer } from 'node:http'

createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ hello: 'world', at: new Date().toISOString() }))
}).listen(8080)
