use std::process::ExitCode;

fn main() -> ExitCode {
    let text = std::env::args().nth(1).unwrap_or_default();
    match dice::parse(&text) {
        Ok(throw) => {
            println!("{} to {}", dice::lowest(&throw), dice::highest(&throw));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
