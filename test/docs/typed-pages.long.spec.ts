import assert from 'node:assert/strict'
import { type InstalledClone, installedClone } from '../helpers/clone.ts'
import { Reader } from './typed/reader.ts'

/** Pages that a newcomer follows one after the other. */
const WALKS = [
  ['README.md'],
  ['docs/tutorials/first-api.md', 'docs/tutorials/first-call.md'],
  ['docs/tutorials/first-api.md', 'docs/tutorials/pay-with-x402.md'],
  ['docs/tutorials/embed.md']
]

/** Each walk begins in a fresh clone with an empty home folder. */
describe('the pages, followed command by command', function () {
  this.timeout(600_000)
  let installed: InstalledClone

  before(async () => {
    installed = await installedClone()
  })
  after(() => installed.close())

  for (const pages of WALKS) {
    it(`work: ${pages.join(', then ')}`, async () => {
      const clone = await installed.again()
      const reader = await Reader.open(clone)
      try {
        for (const page of pages) {
          const before = reader.typed
          await reader.follow(page)
          assert.ok(reader.typed - before > 3, `typed only ${reader.typed - before} commands of ${page}`)
        }
      } finally {
        await reader.close()
        await clone.close()
      }
    })
  }
})
