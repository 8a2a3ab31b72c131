import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { parseExactly, rawNumber, SoukError } from '../../lib/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    hasCallBody?: boolean
  }
}

/**
 * Takes JSON in UTF-8 only, because decoding another encoding would silently change a label or a password. Members that could change
 * prototypes are refused. Numbers in the `body` of a call keep their digits, because a rounded id names something else.
 */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (!isUtf8(bytes)) return done(new SoukError('invalid_request', 'The body is not UTF-8. JSON must be UTF-8.'))
    const text = bytes.toString()
    void parseJson(request, text, (error, value: unknown) => {
      const hasCallBody = request.routeOptions.config.hasCallBody === true
      if (error !== null || !hasCallBody || typeof value !== 'object' || value === null) return done(error, value)
      try {
        const { body } = parseExactly(text, rawNumber) as { readonly body?: unknown }
        done(null, { ...value, body })
      } catch (cause) {
        done(new SoukError('invalid_request', 'The body is nested too deeply.', { cause }))
      }
    })
  })
}
