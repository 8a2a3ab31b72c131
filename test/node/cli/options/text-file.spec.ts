import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAuthFile } from '../../../../node/cli/options/auth-file.ts'
import { graphqlInputOf } from '../../../../node/cli/options/graphql-options.ts'
import { upstreamInputOf } from '../../../../node/cli/options/upstream-options.ts'

const MARK = '\ufeff'
const littleEndian = (text: string) => Buffer.from(text, 'utf16le')
const CHARSETS: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`${MARK}${text}`),
  'UTF-16, little-endian': (text) => littleEndian(`${MARK}${text}`),
  'UTF-16, big-endian': (text) => littleEndian(`${MARK}${text}`).swap16()
}

describe('text files of options', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'souk-text-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  for (const [charset, bytesOf] of Object.entries(CHARSETS)) {
    it(`may be ${charset}`, async () => {
      const file = async (text: string) => {
        const path = join(folder, 'file')
        await writeFile(path, bytesOf(text), { mode: 0o600 })
        return path
      }
      const sdl = 'type Query { "schön" a: Int }'
      const endpoint = 'http://api.example'
      const flags = { introspection: true }
      const { openapi } = await upstreamInputOf({ endpoint, auth: true, openapi: await file('openapi: schön') })
      assert.deepEqual(openapi, { text: 'openapi: schön' })
      assert.equal((await graphqlInputOf({ ...flags, schemaFile: await file(sdl) })).graphql?.schema, sdl)
      assert.equal(
        (await graphqlInputOf({ ...flags, graphqlFile: await file('{"depth_max": 5}') })).graphql?.depth_max,
        5
      )
      assert.deepEqual(await readAuthFile(await file('{"bearer": "s3cr3t"}')), { bearer: 's3cr3t' })
    })
  }
})
