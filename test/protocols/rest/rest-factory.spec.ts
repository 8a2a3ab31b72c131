import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { answering } from '../../helpers/scripted-upstream.ts'
import { adapterSuite } from '../../suites/adapter.ts'

adapterSuite({
  factory: restFactory,
  endpointPath: '/v1/candles',
  inspectable: answering(405, {}, ''),
  call: { symbol: 'BTC-USD', interval: '1m' },
  answer: { headers: { 'content-type': 'application/json' }, body: '{"open":1,"close":2}' },
  reply: { open: 1, close: 2 },
  huge: (bytes) => Buffer.from(`"${'x'.repeat(bytes)}"`),
  holdsResponses: false
})
