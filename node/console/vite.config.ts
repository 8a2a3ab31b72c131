import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Bundles the console into `built/`, which the node serves. Every script and style is a file of its own: the policy allows no other. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'built',
    emptyOutDir: true,
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false
  }
})
