/** `npm run sim -- directory` simulates finding; without a word, money. Each reads its own options. */
const [kind] = process.argv.slice(2)
if (kind === 'directory') process.argv.splice(2, 1)
await import(kind === 'directory' ? './directory/main.ts' : './money.ts')
