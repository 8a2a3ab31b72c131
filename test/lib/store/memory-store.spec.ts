import { createMemoryStore } from '../../../lib/store/memory-store.ts'
import { storeSuite } from '../../suites/store.ts'
import { SUITE_STORED_BYTES } from '../../suites/store-retention.ts'

storeSuite('the memory store', () => {
  const store = createMemoryStore({ storedBytesMax: SUITE_STORED_BYTES })
  return { store, again: () => store, backupTool: 'in memory only', dispose: () => {} }
})
