import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Bundles the console into `built/`, which the node serves. The CSP forbids inline scripts and styles, so each one is a file. */
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
