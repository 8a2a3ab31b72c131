import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PassingMap } from '../../../lib/base/passing-map.ts'

const run = promisify(execFile)
const SOURCE = new URL('../../../lib/base/passing-map.ts', import.meta.url).href

/** Megabytes that the old generation gets while 20 MB of values pass through a map that was idle before. */
async function promotedBy(map: string): Promise<number> {
  const code = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { PassingMap } from '${SOURCE}'
    const oldMB = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size / 2 ** 20
    const map = new ${map}()
    // Moves its table to the old generation.
    gc(); gc()
    const before = oldMB()
    for (let call = 0; call < 5_000; call++) {
      map.set(call, new Array(500).fill(call))
      map.delete(call - 20)
      if (call % 500 === 0) gc({ type: 'minor' })
    }
    console.log(oldMB() - before)`
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '--eval', code])
  return Number(stdout)
}

describe('a map for values that pass through it', () => {
  it('keeps, replaces and deletes values like a Map', () => {
    const map = new PassingMap<string, number>()
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.delete('b')
    map.delete('c')
    assert.deepEqual([map.get('a'), map.get('b'), map.size, [...map.keys()]], [3, undefined, 1, ['a']])
  })

  it('releases them while they are young, which a Map does not', async () => {
    const [plain, passing] = await Promise.all([promotedBy('Map'), promotedBy('PassingMap')])
    assert(plain > 5, `a Map promotes ${plain} MB, so the test shows nothing`)
    assert(passing < 2, `${passing} MB`)
  })
})
