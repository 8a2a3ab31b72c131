import type { ReactNode } from 'react'

/** Paths of 24 by 24 icons, stroked in the text colour. */
const PATHS = {
  overview: <path d="M4 13h6V4H4zm0 7h6v-4H4zm10 0h6v-9h-6zm0-16v4h6V4z" />,
  api: <path d="M8 6 3 12l5 6m8-12 5 6-5 6M13.5 4l-3 16" />,
  plan: <path d="M4 7h16M4 12h16M4 17h10" />,
  key: <path d="M14.5 9.5a4.5 4.5 0 1 1-4-2.45M13.4 10.6 21 3m-3 3 2 2m-5 1 1.5 1.5" />,
  calls: <path d="M3 12h4l3-8 4 16 3-8h4" />,
  money: (
    <path d="M12 3v18m4-14.5C15 5.5 13.700 5 12 5 9.500 5 8 6.200 8 8.200c0 4.300 8.500 2.400 8.500 7 0 2-1.700 3.300-4.300 3.300-2 0-3.700-.700-4.700-2" />
  ),
  market: <path d="M4 9h16l-1.500-5h-13zm1 0v11h14V9M9 20v-6h6v6" />,
  subscription: <path d="M5 4h14v16l-7-4-7 4zm4 5h6" />,
  wallet: <path d="M4 7h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zm0 0a3 3 0 0 1 3-3h9v3m0 6h.01" />,
  network: (
    <path d="M12 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-7 14a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm14 0a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 8v4m0 0-5.500 4.500M12 12l5.500 4.500" />
  ),
  settings: <path d="M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4" />,
  good: <path d="m5 12.500 4.500 4.500L19 7.500" />,
  warn: <path d="M12 4 2.500 20h19zm0 6v4.500m0 2.500v.010" />,
  bad: <path d="m6 6 12 12M18 6 6 18" />,
  pause: <path d="M8 5v14m8-14v14" />,
  wait: <path d="M12 7v5l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z" />,
  copy: <path d="M9 9h11v11H9zM5 15H4V4h11v1" />,
  download: <path d="M12 4v11m-5-5 5 5 5-5M5 20h14" />,
  search: <path d="M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13Zm5-1.500L21 21" />,
  play: <path d="M7 5v14l12-7z" />,
  plus: <path d="M12 5v14m-7-7h14" />,
  again: <path d="M20 11a8 8 0 1 0-2.300 6M20 5v6h-6" />,
  theme: <path d="M12 3v18a9 9 0 0 0 0-18Zm0 0a9 9 0 0 0 0 18" />,
  leave: <path d="M14 4h5v16h-5M4 12h11m-4-4 4 4-4 4" />
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof PATHS

/** An icon beside its text, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      className="icon-svg"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {PATHS[name]}
    </svg>
  )
}
