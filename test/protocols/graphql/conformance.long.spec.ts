import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const SCRIPT = resolve(import.meta.dirname, '../../conformance/graphql.ts')

describe('npm run conformance:graphql', () => {
  it('counts the schemas of a folder, and lists what is wrong with them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'souk-conformance-'))
    try {
      await writeFile(join(directory, 'a.graphql'), 'type Query { a(x: Int! @deprecated): Int b: Int }')
      await writeFile(join(directory, 'b.graphqls'), 'type Query { a: Nix }')
      await writeFile(join(directory, 'c.graphql'), 'query { a }')
      const schema = { queryType: { name: 'Query' }, types: [{ kind: 'OBJECT', name: 'Query', fields: [] }] }
      await writeFile(join(directory, 'd.json'), JSON.stringify({ data: { ['__schema']: schema } }))
      const child = spawn(process.execPath, ['--conditions=development', SCRIPT, directory], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      assert(child.stdout !== null)
      const lines = (await child.stdout.setEncoding('utf8').toArray()).join('').trim().split('\n')
      const { total, loaded, checked, operations, described } = JSON.parse(lines.at(-1) ?? '') as Record<string, number>
      assert.deepEqual([total, loaded, checked, operations, described], [3, 2, 2, 2, 2])
      assert.match(lines[0] ?? '', /^a\.graphql: The schema is not valid in one place/)
      assert.match(lines[1] ?? '', /^b\.graphqls: refused: .*Nix/)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
