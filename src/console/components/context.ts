// What every component may need of the page it stands on, so that pages need not pass it on.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Formats } from '../formats.ts'

export type PageContext = {
  /** Adds the path of the console. */
  url(path: string): string
  /** The address of the icons. */
  sprite: string
  formToken: string
  /** Stays valid when the person signs in or confirms in another tab. */
  browserFormToken: string
  formats: Formats
  /** Where the API is reached. */
  baseUrl: string
}

export const Page = createContext<PageContext | null>(null)

export function usePage(): PageContext {
  const page = useContext(Page)
  if (!page) throw new Error('a component is rendered outside a page')
  return page
}
