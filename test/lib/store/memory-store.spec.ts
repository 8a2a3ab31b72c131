import { createMemoryStore } from '../../../lib/store/memory-store.ts'
import { storeSuite } from '../../suites/store.ts'

storeSuite('the memory store', () => {
  const store = createMemoryStore()
  return { store, again: () => store, dispose: () => {} }
})
