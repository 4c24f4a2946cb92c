/** Milliseconds of a clock that all processes of the machine share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6
