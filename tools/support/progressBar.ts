/** A progress bar on stderr. Without a terminal, it prints a line for each quarter instead. */

export interface ProgressBar {
  /** Shows a share, from 0 to 1. */
  show: (share: number) => void;
  /** Clears the bar from the terminal. */
  end: () => void;
}

const width = 30;

/** Returns a bar that prints nothing until it gets a share. */
export function createProgressBar(
  out: Pick<NodeJS.WriteStream, "isTTY" | "write"> = process.stderr,
): ProgressBar {
  let shown = 0;
  // A terminal gets a redrawn line for each percent, and a log a new line for each quarter.
  const steps = out.isTTY ? 100 : 4;
  return {
    show(share) {
      const step = Math.floor(share * steps);
      if (step <= shown) return;
      shown = step;
      const percent = `${Math.round((step / steps) * 100)} %`;
      if (!out.isTTY) {
        out.write(`  ${percent}\n`);
        return;
      }
      const full = Math.round(share * width);
      out.write(`\r  [${"#".repeat(full)}${" ".repeat(width - full)}] ${percent}`);
    },
    end() {
      if (out.isTTY && shown > 0) out.write(`\r${" ".repeat(width + 12)}\r`);
    },
  };
}
