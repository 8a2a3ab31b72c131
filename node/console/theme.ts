import { useEffect, useState } from 'react'

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const KEY = 'souk-theme'

/** Colour scheme: the system's, or the user's choice in this browser. */
export function useTheme(): { readonly theme: Theme; readonly next: () => void } {
  const [theme, setTheme] = useState<Theme>(() => THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'system')
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    localStorage.setItem(KEY, theme)
  }, [theme])
  return { theme, next: () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system') }
}
