import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

describe('docs: the known dangers of batch-settlement', () => {
  it('name an existing test each', async () => {
    const page = await readFile('docs/explanation/payments.md', 'utf8')
    const table = /### Known dangers of batch-settlement\n([^]*?)\n### /.exec(page)?.[1] ?? ''
    const named = [...table.matchAll(/`([\w/-]+\.spec\.ts)`: (.+?) \|$/gm)]
    assert.equal(named.length, 4)
    for (const [, file = '', title = ''] of named) {
      const source = (await readFile(`test/${file}`, 'utf8')).replaceAll('\\', '')
      assert.ok(source.includes(`it('${title}`) || source.includes(`it("${title}`), `${file}: ${title}`)
    }
  })
})
