import assert from 'node:assert/strict'
import type { Store } from '../../lib/interface/store.ts'

/** The `Documents` part of the contract, run by `test/suites/store.ts`. `reopen` returns the store as a later process sees it. */
export function documentCases(current: () => Store, reopen: () => Promise<Store>): void {
  it('are read as written, even after reopening', async () => {
    const { documents } = current()
    const values = { plain: '{"a":1}', empty: '', unicode: '{"name":"Zoë 😀"}', nul: 'a\0b' }
    for (const [key, value] of Object.entries(values)) await documents.put('listings', key, value)
    for (const [key, value] of Object.entries(values)) assert.equal(await documents.get('listings', key), value)
    const { documents: later } = await reopen()
    for (const [key, value] of Object.entries(values)) assert.equal(await later.get('listings', key), value)
  })

  it('are replaced by a later put', async () => {
    const { documents } = current()
    await documents.put('pins', 'a', '1')
    await documents.put('pins', 'a', '2')
    assert.equal(await documents.get('pins', 'a'), '2')
    assert.deepEqual(await documents.list('pins'), [{ key: 'a', value: '2' }])
  })

  it('with one key are written in the order of the calls', async () => {
    const { documents } = current()
    await Promise.all(Array.from({ length: 50 }, (_, i) => documents.put('pins', 'a', String(i))))
    assert.equal(await documents.get('pins', 'a'), '49')
  })

  it('are separate by collection, for any names', async () => {
    const { documents } = current()
    const places = [
      ['a', 'b/c'],
      ['a/b', 'c'],
      ['a\0b', 'c'],
      ['a', 'b\0c'],
      ['__proto__', 'constructor'],
      ["'; DROP TABLE documents; --", '']
    ] as const
    for (const [i, [collection, key]] of places.entries()) await documents.put(collection, key, String(i))
    for (const [i, [collection, key]] of places.entries()) {
      assert.equal(await documents.get(collection, key), String(i))
    }
    assert.equal(await documents.get('__proto__', 'toString'), undefined)
    assert.equal(await documents.get('nowhere', 'b'), undefined)
  })

  it('are read backwards from the last one, page by page', async () => {
    const { documents } = current()
    const keys = ['', 'a', 'a\0', 'ab', 'b', 'z', 'é', '\uffff', '😀']
    for (const key of keys) await documents.put('pages', key, `of ${key}`)
    await documents.put('pager', 'c', 'another')
    for (const limit of [1, 2, 4, 100]) {
      const found: string[] = []
      for (let before: string | undefined; ; before = found.at(-1)) {
        const page = await documents.last('pages', { limit, ...(before === undefined ? {} : { before }) })
        for (const { key, value } of page) assert.equal(value, `of ${key}`)
        found.push(...page.map(({ key }) => key))
        if (page.length < limit) break
      }
      assert.deepEqual(found, keys.toReversed())
    }
    assert.deepEqual(await documents.last('nowhere', { limit: 5 }), [])
    for (const limit of [0, -1]) assert.deepEqual(await documents.last('pages', { limit }), [])
    assert.deepEqual((await documents.last('pages', { before: 'aa', limit: 1 }))[0]?.key, 'a\0')
  })

  it('are inserted only if absent', async () => {
    const { documents } = current()
    assert.equal(await documents.insert('keys', 'a', '1'), true)
    assert.equal(await documents.insert('keys', 'a', '2'), false)
    assert.equal(await documents.get('keys', 'a'), '1')
    await documents.delete('keys', 'a')
    assert.equal(await documents.insert('keys', 'a', '3'), true)
    assert.equal(await documents.get('keys', 'a'), '3')
  })

  it('are inserted once by concurrent writers of one key', async () => {
    const { documents } = current()
    const wins = await Promise.all(Array.from({ length: 20 }, (_, i) => documents.insert('keys', 'a', String(i))))
    assert.equal(wins.filter(Boolean).length, 1)
    assert.equal(await documents.get('keys', 'a'), String(wins.indexOf(true)))
  })

  it('are replaced only if unchanged', async () => {
    const { documents } = current()
    assert.equal(await documents.replace('caps', 'a', '', '1'), false)
    assert.equal(await documents.get('caps', 'a'), undefined)
    await documents.put('caps', 'a', '1')
    assert.equal(await documents.replace('caps', 'a', '2', '3'), false)
    assert.equal(await documents.replace('others', 'a', '1', '3'), false)
    assert.equal(await documents.replace('caps', 'a', '1', '2'), true)
    assert.equal(await (await reopen()).documents.get('caps', 'a'), '2')
  })

  it('are replaced once by concurrent writers that saw the same value', async () => {
    const { documents } = current()
    await documents.put('caps', 'a', 'seen')
    const tries = Array.from({ length: 20 }, (_, i) => documents.replace('caps', 'a', 'seen', String(i)))
    const wins = await Promise.all(tries)
    assert.equal(wins.filter(Boolean).length, 1)
    assert.equal(await documents.get('caps', 'a'), String(wins.indexOf(true)))
  })

  it('are deleted once, permanently', async () => {
    const { documents } = current()
    await documents.put('keys', 'a', '1')
    assert.equal(await documents.delete('keys', 'a'), true)
    assert.equal(await documents.delete('keys', 'a'), false)
    assert.equal(await documents.delete('keys', 'never'), false)
    assert.equal(await documents.get('keys', 'a'), undefined)
    assert.equal(await (await reopen()).documents.get('keys', 'a'), undefined)
  })

  it('are listed in key order, by code point, one collection only', async () => {
    const { documents } = current()
    const keys = ['b', 'a', 'Z', 'aa', '10', '9', 'é', '\u{1f600}', '\uffee', '']
    for (const key of keys) await documents.put('peers', key, `"${key}"`)
    await documents.put('others', 'c', '1')
    assert.deepEqual(
      await documents.list('peers'),
      ['', '10', '9', 'Z', 'a', 'aa', 'b', 'é', '\uffee', '\u{1f600}'].map((key) => ({ key, value: `"${key}"` }))
    )
    assert.deepEqual(await documents.list('nowhere'), [])
  })
}
