import { createServer } from 'node:http'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

const ORDER = /(<\/?(?:\w+:)?)order(?=[\s>/])/g

/** A SOAP service that returns the order it received. */
play(({ wsdl }: { readonly wsdl: string }) => {
  // Cached by length, so that a small call does not wait while a large response is built.
  const answers = new Map<number, Buffer>()
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/xml; charset=utf-8')
    if (request.method === 'GET') {
      response.end(wsdl.replaceAll('{origin}', `http://${request.headers.host}`))
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
      const answer =
        answers.get(length) ?? Buffer.from(Buffer.concat(chunks).toString().replaceAll(ORDER, '$1orderResponse'))
      answers.set(length, answer)
      response.end(answer)
    })
  })
  return listenOnLoopback(server)
})
