// One operation of a vector file: takes the input of a vector, returns the result of the product.

// biome-ignore lint/suspicious/noExplicitAny: vectors are untyped JSON; each handler knows the shape of its own file
export type Handler = (input: any) => Record<string, unknown>

/** Handlers by the base name of the vector file they serve, e.g. `gsm` for `gsm.json`. */
export type Handlers = Record<string, Handler>
