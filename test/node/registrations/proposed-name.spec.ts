import assert from 'node:assert/strict'
import { isApiName } from '../../../lib/index.ts'
import { proposedName } from '../../../node/registrations/proposed-name.ts'

const free = () => false
const LOCAL = 'http://127.0.0.1:8080/'

describe('a proposed API name', () => {
  const cases: Array<[title: string, endpoint: string, name: string]> = [
    ['Weather API', LOCAL, 'weather-api'],
    ['Météo — v2.1 (beta)', LOCAL, 'meteo-v2-1-beta'],
    ["Bob's Pets", LOCAL, 'bobs-pets'],
    ['--- API', LOCAL, 'api'],
    ['天気', LOCAL, 'api-8080'],
    ['', 'http://localhost:3000/v1', 'api-3000'],
    ['', 'https://api.weather.example.com/', 'weather-example'],
    ['', 'https://10.0.0.1/', 'api-http'],
    ['', 'http://[::1]:81/', 'api-81'],
    ['2.0', LOCAL, 'api-8080'],
    ['x'.repeat(200), LOCAL, 'x'.repeat(40)],
    [`${'word '.repeat(8)}- end`, LOCAL, 'word-word-word-word-word-word-word-word']
  ]

  for (const [title, endpoint, name] of cases) {
    it(`is ${name} for ${JSON.stringify(title.slice(0, 30))} at ${endpoint}`, async () => {
      assert.equal(await proposedName(title, endpoint, free), name)
      assert.ok(isApiName(name))
    })
  }

  it('gets a number if it is taken', async () => {
    assert.equal(await proposedName('Shop', LOCAL, (name) => name === 'shop' || name === 'shop-2'), 'shop-3')
  })
})
