import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { SoukError, toProblem } from '../../lib/index.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/**
 * Responds on the bare socket when Node’s parser rejects a request, because no request object exists then. If a response is under way, this
 * closes the connection instead: the client would take other bytes as part of that response.
 */
export function sendParserProblem(cause: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // Node's own handler of this event reads the same property: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js
  // oxlint-disable-next-line eslint/no-underscore-dangle
  const current = (socket as { _httpMessage?: ServerResponse | null })._httpMessage
  if (cause.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true) {
    socket.destroy()
    return
  }
  const error = parserError(cause.code)
  const body = JSON.stringify(toProblem(error, requestId))
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nX-Request-Id: ${requestId}\r\n` +
      `Content-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}

function parserError(code: string | undefined): SoukError {
  if (code === 'HPE_HEADER_OVERFLOW') return new SoukError('request_too_large', 'The header fields are too large.')
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new SoukError('request_too_large', 'The chunk extensions are too large.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SoukError('invalid_request', 'The request did not arrive in time.')
  return new SoukError('invalid_request', 'This is not a well-formed HTTP request.')
}
