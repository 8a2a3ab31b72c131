import createCode from 'qrcode-generator'

/** Quiet zone around the code, required by scanners. */
const QUIET = 4

/** A text as a QR code, drawn in the browser: no other server receives the text. */
export function QrCode({ text, what }: { readonly text: string; readonly what: string }) {
  const code = createCode(0, 'M')
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  const places = Array.from({ length: size * size }, (_, at) => [Math.floor(at / size), at % size] as const)
  const dark = places.filter(([row, column]) => code.isDark(row, column))
  const path = dark.map(([row, column]) => `M${column} ${row}h1v1h-1z`).join('')
  return (
    <svg
      className="qr"
      role="img"
      aria-label={what}
      viewBox={`${-QUIET} ${-QUIET} ${size + 2 * QUIET} ${size + 2 * QUIET}`}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}
