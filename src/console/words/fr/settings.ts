/** Settings, changes, and the operator's pages. */
export const settings = {}
