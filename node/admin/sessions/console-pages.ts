import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
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

const compress = promisify(gzip)

interface Page {
  readonly type: string
  readonly plain: Buffer
  readonly zipped: Buffer
  /** The file name contains the content's hash, so the content never changes. */
  readonly isForever: boolean
}

/**
 * Serves the built console. Each page is read and compressed at its first request, because most starts need none. All other paths
 * return the app's page; the app routes them itself.
 */
export async function consolePages(app: FastifyInstance): Promise<void> {
  const files = await builtFiles()
  const pages = new Map<string, Promise<Page>>()
  const pageOf = (path: string, file: string): Promise<Page> => {
    const known = pages.get(path)
    if (known !== undefined) return known
    const page = readPage(path, file)
    pages.set(path, page)
    page.catch(() => pages.delete(path))
    return page
  }
  app.get('/*', async (request: FastifyRequest, reply) => {
    const path = new URL(request.url, 'http://console').pathname.slice(1)
    const isOfTheApp = extname(path) === '' && !path.startsWith('admin/')
    const served = files.has(path) || !isOfTheApp ? path : INDEX
    const file = files.get(served)
    if (file !== undefined) return send(request, reply, await pageOf(served, file))
    if (files.size > 0) return reply.callNotFound()
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

/** The built files by their paths in URLs. */
async function builtFiles(): Promise<ReadonlyMap<string, string>> {
  // Without a built console, the node still starts.
  const entries = await readdir(BUILT, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return new Map(files.map((file) => [file.slice(BUILT.length + 1).replaceAll('\\', '/'), file]))
}

async function readPage(path: string, file: string): Promise<Page> {
  const plain = await readFile(file)
  const type = TYPES[extname(file)] ?? 'application/octet-stream'
  return { type, plain, zipped: await compress(plain), isForever: path.startsWith('assets/') }
}
