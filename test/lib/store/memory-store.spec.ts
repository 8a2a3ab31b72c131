import { createMemoryStore } from '../../../lib/store/memory-store.ts'
import { storeSuite, SUITE_STORED_BYTES } from '../../suites/store.ts'

storeSuite('the memory store', () => {
  const store = createMemoryStore({ storedBytesMax: SUITE_STORED_BYTES })
  return { store, again: () => store, dispose: () => {} }
})
