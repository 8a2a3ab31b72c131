import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SoukError } from '../../../lib/index.ts'

const BUILT = fileURLToPath(new URL('../../console/built', import.meta.url))
const INDEX = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml'
}

/** Allows only this node's files and no requests to other origins. Scripts set styles through the CSSOM only. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

interface Page {
  readonly type: string
  readonly plain: Buffer
  readonly zipped: Buffer
  /** The file name contains the content's hash, so the content never changes. */
  readonly isForever: boolean
}

/** Serves the built console from memory. All other paths return the app's page; the app routes them itself. */
export async function consolePages(app: FastifyInstance): Promise<void> {
  const pages = await readPages()
  app.get('/*', (request: FastifyRequest, reply) => {
    const path = new URL(request.url, 'http://console').pathname.slice(1)
    const isOfTheApp = extname(path) === '' && !path.startsWith('admin/')
    const page = pages.get(path) ?? (isOfTheApp ? pages.get(INDEX) : undefined)
    if (page !== undefined) return send(request, reply, page)
    if (pages.size > 0) return reply.callNotFound()
    throw new SoukError('operation_not_found', 'The console is not built in this copy of Souk: npm run build')
  })
}

function send(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, plain, zipped, isForever }: Page
): FastifyReply {
  const isZipped = /\bgzip\b/.test(String(headers['accept-encoding']))
  reply.headers({
    'content-type': type,
    'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': POLICY,
    // Not `no-referrer`: browsers would then send `Origin: null` with the console's own writes.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept-encoding'
  })
  return reply.headers(isZipped ? { 'content-encoding': 'gzip' } : {}).send(isZipped ? zipped : plain)
}

async function readPages(): Promise<Map<string, Page>> {
  // Without a built console, the node still starts.
  const entries = await readdir(BUILT, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const pages = files.map(async (file): Promise<[string, Page]> => {
    const path = file.slice(BUILT.length + 1).replaceAll('\\', '/')
    const plain = await readFile(file)
    const type = TYPES[extname(file)] ?? 'application/octet-stream'
    return [path, { type, plain, zipped: gzipSync(plain), isForever: path.startsWith('assets/') }]
  })
  return new Map(await Promise.all(pages))
}
